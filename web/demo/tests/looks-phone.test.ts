import { looks } from './looks.ts';
import { withBrowser } from './visitor.ts';

withBrowser();

const phone = { viewport: { width: 380, height: 780 }, isMobile: true, hasTouch: true };

looks('phone-light', { colorScheme: 'light', ...phone });
looks('phone-dark', { colorScheme: 'dark', ...phone });
