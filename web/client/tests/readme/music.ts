/** What the page can do by itself. */
export const played: number[] = [];

export function play(track: number): { success: boolean; track: number } {
  played.push(track);
  return { success: true, track };
}

export const locate = async (_signal: AbortSignal) => ({ latitude: 59.91, longitude: 10.75 });
