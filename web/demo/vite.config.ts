import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const server = `http://${process.env.LISTEN ?? '127.0.0.1:8080'}`;

export default defineConfig({
  plugins: [react()],
  build: {
    // The binary embeds this folder, and keeps what lies in assets/ for ever: names there are hashed.
    outDir: 'dist',
    assetsDir: 'assets',
  },
  server: {
    proxy: {
      '/api': { target: server, ws: true },
      '/healthz': server,
    },
  },
  test: {
    include: ['tests/**/*.test.ts'],
    // Browsers mostly wait: more of them than processors are no burden.
    maxWorkers: 2,
    // A browser starts and the server goes away: seconds, where a machine is busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
