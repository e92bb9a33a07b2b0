/** LiteLLM's proxy: it takes OpenAI's and Anthropic's APIs, and asks emulators of Gemini. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../corpus.ts';
import {
  bytecodeCache,
  end,
  expectEndedWell,
  launchEmulator,
  launchProgram,
  type Running,
} from './process.ts';

const python = join(projectRoot, 'target', 'python-models', 'bin', 'python');

/** Milliseconds between two words of its models: the tests want no others. */
const paces = [1, 20] as const;

/** Where everything is, for processes that did not start it. */
export type LitellmPlace = {
  url: string;
  /** Its models, from the fastest to the slowest. */
  models: { name: string; pace: number; emulator: string }[];
};

/** The agents that are models behind it, each by an API of its own, and the kind that the binary has for them. */
const kinds = { openai: 'openai', responses: 'openai', anthropic: 'anthropic' } as const;

type Model = keyof typeof kinds;

/** Whether an agent is asked through LiteLLM. */
export function isModel(agent: string): agent is Model {
  return Object.hasOwn(kinds, agent);
}

/** The flags and variables with which the binary asks a model of it. */
export function settingsOf(agent: Model, url: string, model: string) {
  const kind = kinds[agent];
  const base = kind === 'openai' ? `${url}/v1` : url;
  const flags = ['--agent', kind, `--${kind}-base-url`, base, `--${kind}-model`, model];
  if (agent === 'responses') {
    flags.push('--openai-api', 'responses');
  }
  return { flags, variables: { [`ADK_STREAM_${kind.toUpperCase()}_KEY`]: 'a-key' } };
}

/** The model that is slow enough. */
export function modelOf(place: LitellmPlace, pace: number): LitellmPlace['models'][number] {
  const model = place.models.find(model => pace <= model.pace);
  if (model === undefined) {
    throw new Error(`no model behind LiteLLM takes ${pace} ms for a word`);
  }
  return model;
}

export class Litellm {
  readonly #folder: string;
  readonly #running: Running;
  readonly #emulators: readonly Running[];
  readonly place: LitellmPlace;

  private constructor(folder: string, running: Running, emulators: readonly Running[]) {
    this.#folder = folder;
    this.#running = running;
    this.#emulators = emulators;
    this.place = { url: running.url, models: models(emulators) };
  }

  static async start(): Promise<Litellm> {
    if (!existsSync(python)) {
      throw new Error(`there is no LiteLLM: scripts/python-env models makes ${python}`);
    }
    const folder = mkdtempSync(join(tmpdir(), 'litellm-'));
    const emulators = await Promise.all(
      paces.map(pace => launchEmulator(['--pace', String(pace)], tmpdir())),
    );
    const config = join(folder, 'litellm.yaml');
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(configOf(models(emulators))));
    const port = await freePort();
    const running = await launchProgram({
      command: python,
      args: [
        ...['-c', 'from litellm import run_server; run_server()'],
        ...['--config', config, '--host', '127.0.0.1', '--port', String(port)],
      ],
      cwd: folder,
      variables: {
        // It would else ask the network for prices and news.
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS: 'True',
        LITELLM_LOCAL_AUTOROUTER_PRESETS: 'True',
        LITELLM_LOCAL_BLOG_POSTS: 'True',
        LITELLM_LOCAL_POLICY_TEMPLATES: 'True',
        NO_DOCS: 'True',
        DISABLE_ADMIN_UI: 'True',
        ...bytecodeCache,
      },
      listening: /running on (http:\S+)/,
    });
    const litellm = new Litellm(folder, running, emulators);
    await litellm.#warmUp();
    return litellm;
  }

  /**
   * Asks it once by each API: it loads what an API needs with the first request, which takes longer on a busy
   * machine than a test waits for a window.
   */
  async #warmUp(): Promise<void> {
    const { url } = this.place;
    const model = modelOf(this.place, 0).name;
    const messages = [{ role: 'user', content: 'Hello' }];
    const requests = {
      'chat/completions': { messages },
      responses: { input: messages },
      messages: { messages, max_tokens: 1000 },
    };
    for (const [path, body] of Object.entries(requests)) {
      const response = await fetch(`${url}/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer a-key' },
        body: JSON.stringify({ model, stream: true, ...body }),
      });
      const text = await response.text();
      if (!response.ok) {
        throw new Error(`LiteLLM answers /v1/${path} with ${response.status}: ${text}`);
      }
    }
  }

  async stop(): Promise<void> {
    await end(this.#running, 'SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
    for (const emulator of this.#emulators) {
      await end(emulator, 'SIGTERM');
      expectEndedWell(emulator);
    }
  }
}

function models(emulators: readonly Running[]): LitellmPlace['models'] {
  return paces.map((pace, index) => ({
    name: `demo-${pace}`,
    pace,
    emulator: emulators[index]?.url ?? '',
  }));
}

function configOf(models: LitellmPlace['models']): object {
  return {
    model_list: models.map(({ name, emulator }) => ({
      model_name: name,
      litellm_params: {
        model: 'gemini/gemini-3-flash',
        api_base: `${emulator}/v1beta`,
        api_key: 'a-key',
      },
    })),
    litellm_settings: { num_retries: 0, telemetry: false },
    router_settings: { num_retries: 0, disable_cooldowns: true },
  };
}

/** A port that nobody has at the moment: it does not choose one by itself. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise(resolve => probe.close(resolve));
  if (address === null || typeof address === 'string') {
    throw new Error('there is no port');
  }
  return address.port;
}
