import type { NextConfig } from 'next';

export default {
  // Several pages may be open at once on the addresses of this machine.
  allowedDevOrigins: ['127.0.0.1'],
  // Not a part of the example: its packages are those of this repository.
  turbopack: { root: new URL('../..', import.meta.url).pathname },
} satisfies NextConfig;
