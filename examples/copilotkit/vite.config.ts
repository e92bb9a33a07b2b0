import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  server: {
    // The page asks its own origin, and Vite passes it on: no CORS, and WebSockets work too.
    proxy: { '/api': { target: process.env.ADK_STREAM_URL ?? 'http://127.0.0.1:8080', ws: true } },
  },
});
