import { looks } from './looks.ts';
import { withBrowser } from './visitor.ts';

withBrowser();

const viewport = { width: 1280, height: 860 };

looks('desktop-light', { colorScheme: 'light', viewport });
looks('desktop-dark', { colorScheme: 'dark', viewport });
