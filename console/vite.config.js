import { defineConfig } from 'vite';

// One page, one script, one style sheet, named by their bytes, so that they may be kept for ever.
// Nothing is inlined: the page's content policy allows files of the server only.
export default defineConfig({
  base: '/',
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        postBanner: '/*! With uPlot 1.6.32, (c) 2022 Leon Sorokin, MIT licence. */',
        entryFileNames: 'assets/console-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
});
