#!/usr/bin/python3
"""An RTSP camera for tests, on GStreamer's server (needs the system's Python with gi).

Prints its address when it listens, then serves until it is killed.
  --live            a moving ball with a tone, as a camera sends it (default)
  --file PATH       an MP4 with H.264 and, if --sound, AAC, from its start for each client
  --codec NAME      of --live: h264 (default), mjpeg, vp8
  --sound, --no-video  of --live: a tone too, the tone only
  --user, --password  refuse everybody else (basic authentication)
  --tls CERT KEY    rtsps with this PEM certificate
SIGUSR1 makes a live camera fall silent without closing the connection, SIGUSR2 ends that; SIGHUP
doubles the size of its picture.
"""
import argparse
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, Gst, GstRtspServer  # noqa: E402

ENCODERS = {
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast key-int-max={gop} "
            "! rtph264pay config-interval=1",
    "mjpeg": "jpegenc ! rtpjpegpay",
    "vp8": "vp8enc deadline=1 keyframe-max-dist={gop} ! rtpvp8pay",
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 = any free one")
    parser.add_argument("--path", default="/live")
    parser.add_argument("--live", action="store_true", help="the default")
    parser.add_argument("--file")
    parser.add_argument("--sound", action="store_true")
    parser.add_argument("--no-video", action="store_true")
    parser.add_argument("--codec", choices=sorted(ENCODERS), default="h264")
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--height", type=int, default=240)
    parser.add_argument("--fps", type=int, default=10)
    parser.add_argument("--gop", type=int, help="pictures from key picture to key picture; default a second")
    parser.add_argument("--user")
    parser.add_argument("--password", default="")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    return parser.parse_args()


def launch_line(options):
    if options.file:
        line = (f'filesrc location="{options.file}" ! qtdemux name=d d.video_0 ! queue ! h264parse '
                "! rtph264pay name=pay0 pt=96 config-interval=1")
        if options.sound:
            line += " d.audio_0 ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97"
        return f"( {line} )"
    line = ""
    if not options.no_video:
        encoder = ENCODERS[options.codec].format(gop=options.gop or options.fps)
        line = (f"videotestsrc is-live=true pattern=ball ! capsfilter name=shape caps={shape(options)} "
                f"! valve name=silence0 ! videoconvert ! {encoder} name=pay0 pt=96")
    if options.sound or options.no_video:
        line += (" audiotestsrc is-live=true ! audio/x-raw,rate=8000,channels=1 ! valve name=silence1 "
                 f"! audioconvert ! alawenc ! rtppcmapay name=pay{0 if options.no_video else 1} pt=8")
    return f"( {line} )"


def shape(options, scale=1):
    return (f"video/x-raw,width={options.width * scale},height={options.height * scale},"
            f"framerate={options.fps}/1")


def guard(server, factory, options):
    """Who may watch, and how the way is sealed."""
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    if options.user:
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(options.user, options.password), token)
    else:
        auth.set_default_token(token)
    if options.tls:
        auth.set_tls_certificate(Gio.TlsCertificate.new_from_files(*options.tls))
    server.set_auth(auth)
    permissions = GstRtspServer.RTSPPermissions()
    permissions.add_permission_for_role("viewer", "media.factory.access", True)
    permissions.add_permission_for_role("viewer", "media.factory.construct", True)
    factory.set_permissions(permissions)


def main():
    options = parse()
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(str(options.port))
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(launch_line(options))
    factory.set_shared(not options.file)
    medias = []
    factory.connect("media-configure", lambda _, media: medias.append(media))
    if options.user or options.tls:
        guard(server, factory, options)
    server.get_mount_points().add_factory(options.path, factory)
    if not server.attach(None):
        sys.exit(f"port {options.port} is taken")

    def silence(on):
        for media in medias:
            for name in ("silence0", "silence1"):
                valve = media.get_element().get_by_name(name)
                if valve:
                    valve.set_property("drop", on)
        return True

    def grow():
        for media in medias:
            Gst.util_set_object_arg(media.get_element().get_by_name("shape"), "caps", shape(options, 2))
        return True

    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGHUP, grow)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, silence, True)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR2, silence, False)
    print(f"rtsp{'s' if options.tls else ''}://127.0.0.1:{server.get_bound_port()}{options.path}", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
