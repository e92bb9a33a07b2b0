/** The apps that ADK serves in the tests: those of the example, and those of its own tests. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../corpus.ts';

const folders = ['examples/adk-python/agents', 'python/adk/agents'];

/** Puts them into one folder, since ADK serves no more than one. */
export function gatherApps(folder: string): string {
  const apps = join(folder, 'apps');
  mkdirSync(apps);
  for (const source of folders.map(folder => join(projectRoot, folder))) {
    for (const name of readdirSync(source).filter(name => !/^[._]/.test(name))) {
      symlinkSync(join(source, name), join(apps, name));
    }
  }
  return apps;
}
