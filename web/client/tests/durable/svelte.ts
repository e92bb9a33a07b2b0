import { mount, unmount } from 'svelte';
import Page from './Page.svelte';
import type { Mount } from './page.ts';

export const mountSvelte: Mount = (options, onShown) => {
  const page = mount(Page, { target: document.createElement('main'), props: { options, onShown } });
  return () => void unmount(page);
};
