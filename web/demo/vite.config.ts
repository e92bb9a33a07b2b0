import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { failures } from '../failures.ts';

const server = `http://${process.env.LISTEN ?? '127.0.0.1:8080'}`;

/** The page is built with AI SDK 7, or with 6 into a folder of its own: `AI_SDK=6`. */
const sdk = process.env.AI_SDK === '6' ? '6' : '7';

/** The headline's font is there before the headline: what swaps later would move the page. */
const preloadFont: Plugin = {
  name: 'preload-font',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle }) =>
      Object.keys(bundle ?? {})
        .filter(name => name.endsWith('.woff2'))
        .map(name => ({
          tag: 'link',
          attrs: {
            rel: 'preload',
            href: `/${name}`,
            as: 'font',
            type: 'font/woff2',
            crossorigin: '',
          },
          injectTo: 'head' as const,
        })),
  },
};

/** Files that become smaller, and are large enough to gain from it. */
const COMPRESSIBLE = /\.(css|html|js|json|svg|txt)$/;
const MIN_BYTES = 1024;

/** Writes `FILE.br` and `FILE.gz` beside each file, so that the server compresses nothing itself. */
const compressFiles: Plugin = {
  name: 'compress-files',
  apply: 'build',
  writeBundle({ dir }) {
    const folder = dir ?? '';
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const file = join(folder, name);
      if (!COMPRESSIBLE.test(name) || statSync(file).size < MIN_BYTES) {
        continue;
      }
      const content = readFileSync(file);
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
      writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
      writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [react(), tailwind(), preloadFont, compressFiles],
  define: { __AI_SDK__: JSON.stringify(sdk) },
  resolve: {
    alias: sdk === '6' ? { ai: 'ai-6', '@ai-sdk/react': 'ai-sdk-react-6' } : {},
    // `@ai-sdk/react` brings a copy of its own, which nobody needs twice.
    dedupe: ['ai', 'ai-6', 'react', 'react-dom'],
  },
  build: {
    // The binary embeds this folder, and keeps what lies in assets/ for ever: names there are hashed.
    outDir: sdk === '6' ? 'dist-v6' : 'dist',
    assetsDir: 'assets',
    // Small files stay files: a page with a strict policy takes no data URLs for scripts.
    assetsInlineLimit: 0,
  },
  worker: { format: 'es' },
  server: {
    proxy: {
      '/api': { target: server, ws: true },
      '/healthz': server,
    },
  },
  test: {
    reporters: ['default', failures],
    include: ['tests/**/*.test.ts'],
    // It takes the README's pictures, where that is asked for.
    exclude: process.env.PICTURES === '1' ? [] : ['tests/pictures.test.ts'],
    // Browsers mostly wait: more of them than processors are no burden.
    maxWorkers: 2,
    // A browser starts and the server goes away: seconds, where a machine is busy.
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
