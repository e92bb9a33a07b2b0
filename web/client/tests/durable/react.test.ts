// @vitest-environment happy-dom
import { durableFlows } from './flows.ts';
import { mountReact } from './react.tsx';

durableFlows(mountReact);
