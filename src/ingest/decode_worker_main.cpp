// The decode worker as a program of its own, for tests: `saccade decode-worker` without the rest.
#include "ingest/ingest.h"
#include "ingest/worker_protocol.h"

int main() { return saccade::ingest::run_decode_worker(saccade::ingest::kWorkerControlFd); }
