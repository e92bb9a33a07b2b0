// @vitest-environment happy-dom
import { durableFlows } from './flows.ts';
import { mountSvelte } from './svelte.ts';

durableFlows(mountSvelte);
