/** A value, a promise of it, or a function that gives either: asked again each time it is needed. */
export type Resolvable<T> = T | PromiseLike<T> | (() => T | PromiseLike<T>);

export async function resolve<T>(value: Resolvable<T>): Promise<T> {
  return typeof value === 'function' ? (value as () => T | PromiseLike<T>)() : value;
}

export type HeadersLike = Record<string, string> | Headers;

/** Headers as a plain object; later ones win. */
export function mergeHeaders(...all: (HeadersLike | undefined)[]): Record<string, string> {
  const merged = new Headers();
  for (const headers of all) {
    new Headers(headers).forEach((value, name) => {
      merged.set(name, value);
    });
  }
  return Object.fromEntries(merged);
}
