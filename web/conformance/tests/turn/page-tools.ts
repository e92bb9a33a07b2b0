/** The tools that the pages of these tests run. */
import type { PageTools } from '../../src/server/tab.ts';

export const place = { latitude: 59.91, longitude: 10.75, city: 'Oslo' };

export const pageTools: PageTools = {
  change_bgm: input => ({ output: { success: true, ...(input as { track: number }) } }),
  get_location: () => ({ output: place }),
};
