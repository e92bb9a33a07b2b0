import type { ObjectDirective } from 'vue';
import { type ConsentOptions, takeConsent } from '../consent.ts';

/** What `v-consent` is given: what to do, and what identifies what is shown. */
export type VConsent = ConsentOptions & { shown: string };

type Entry = { leave: () => void; latest: VConsent };

const leaving = new WeakMap<HTMLElement, Entry>();

function begin(button: HTMLElement, value: VConsent): void {
  const entry: Entry = { leave: () => {}, latest: value };
  leaving.set(button, entry);
  entry.leave = takeConsent(button, {
    ...value,
    // The page may make its functions again with every render.
    onConsent: () => entry.latest.onConsent(),
    onTooSoon: () => entry.latest.onTooSoon?.(),
  });
}

/** `<button v-consent="{ shown, onConsent }">`: its press is consent, once it counts as such. */
export const vConsent: ObjectDirective<HTMLElement, VConsent> = {
  mounted: (button, { value }) => begin(button, value),
  updated: (button, { value }) => {
    const entry = leaving.get(button);
    const { shown, isReady } = entry?.latest ?? {};
    if (entry !== undefined && shown === value.shown && isReady === value.isReady) {
      entry.latest = value;
    } else {
      // Something else has to be in sight again.
      entry?.leave();
      begin(button, value);
    }
  },
  beforeUnmount: button => leaving.get(button)?.leave(),
};
