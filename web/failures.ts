import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from 'vitest/node';

/** How many lines are said in all: of a long log one often sees but the end. */
const LINES = 60;

/** How many lines of one error are said. */
const LINES_OF_ERROR = 5;

/** Says once more, at the very end of a run, which tests failed and why. */
export const failures: Reporter = {
  onTestRunEnd(modules, unhandled) {
    const failed = [
      ...modules.flatMap(described),
      ...unhandled.flatMap(error => said('outside of tests', error)),
    ];
    if (failed.length > 0) {
      const left = failed.length - LINES;
      const more = left > 0 ? [`… and ${left} lines more, above`] : [];
      const lines = ['What failed, in short:', ...failed.slice(0, LINES), ...more];
      process.stderr.write(`\n${lines.join('\n')}\n`);
    }
  },
};

/** What failed in a file: tests, and errors outside of them. */
function described(module: TestModule): string[] {
  const around = [module, ...module.children.allSuites()].flatMap(it =>
    it.errors().flatMap(error => said(name(module, it), error)),
  );
  const tests = [...module.children.allTests('failed')].flatMap(test =>
    (test.result().errors ?? []).slice(0, 1).flatMap(error => said(name(module, test), error)),
  );
  return [...around, ...tests];
}

function name(module: TestModule, it: TestModule | TestSuite | TestCase): string {
  const project = module.project.name ? `[${module.project.name}] ` : '';
  const within = it.type === 'module' ? '' : ` > ${it.fullName}`;
  return `${project}${module.relativeModuleId}${within}`;
}

function said(where: string, error: SerializedError): string[] {
  const message = error.message.split('\n').filter(line => line.trim());
  const place = error.stacks?.[0];
  const at = place ? [`at ${relative('.', place.file)}:${place.line}`] : [];
  return [`× ${where}`, ...[...message.slice(0, LINES_OF_ERROR), ...at].map(line => `    ${line}`)];
}
