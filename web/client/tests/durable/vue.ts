import { createApp, defineComponent, watchEffect } from 'vue';
import { useDurableChat } from '../../src/vue.ts';
import type { Mount } from './page.ts';

export const mountVue: Mount = (options, onShown) => {
  const page = defineComponent(() => {
    const chat = useDurableChat(options);
    watchEffect(() =>
      onShown(
        {
          messages: JSON.parse(JSON.stringify(chat.messages.value)),
          status: chat.status.value,
          error: chat.error.value,
          isLoaded: chat.isLoaded.value,
          isMissing: chat.isMissing.value,
          loadError: chat.loadError.value,
          failure: chat.failure.value,
          queued: chat.queued.value,
        },
        chat as never,
      ),
    );
    return () => null;
  });
  const app = createApp(page);
  app.mount(document.createElement('main'));
  return () => app.unmount();
};
