// @vitest-environment happy-dom
import { durableFlows } from './flows.ts';
import { mountVue } from './vue.ts';

durableFlows(mountVue);
