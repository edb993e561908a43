import type { Processor, Worker, WorkerOptions } from 'bullmq'
import type { App } from '../../src/app.ts'
import type { createApiKey } from '../../src/features/keys/create.ts'
import type { moveChange } from '../../src/features/moves/move-change.ts'
import type { readScripts } from '../../src/redis/scripts.ts'
import type { createMessenger } from '../../src/slack/web-api.ts'

/** A safety mechanism that is removed. It is named by an export of a module, so the wording of the source does not matter. */
export interface Ablation {
  /** A file below `src/`, or a package. */
  module: string
  export: string
  /** Makes the replacement of the export. It calls `lacks` if something that it replaces no longer exists. */
  wrap: (real: never, lacks: Lacks) => unknown
}

/** Throws an error that names the ablation and what is missing. */
export type Lacks = (what: string) => never

export const ablations = {
  /** A message whose answer was lost is sent again, even if the search finds it. */
  'search off': {
    module: 'src/slack/web-api.ts',
    export: 'createMessenger',
    wrap: withMember<typeof createMessenger, 'find'>('find', (find) => async (where) => {
      const found = await find(where)
      return found.is === 'found' ? { is: 'absent' } : found
    }),
  },
  /** A move that is missing in the list of moving Elastic IPs counts as done without a separate read. */
  'absence taken for done': {
    module: 'src/features/moves/move-change.ts',
    export: 'moveChange',
    wrap: withMember<typeof moveChange, 'observe'>('observe', () => async () => ({ is: 'done' })),
  },
  /** A step does not recognize its own token when the client sends it again after a lost answer. */
  'plain SET NX': {
    module: 'src/redis/scripts.ts',
    export: 'readScripts',
    wrap:
      (read: typeof readScripts): typeof readScripts =>
      (module, names) =>
        new Map([...read(module, names)].map(([name, lua]) => [name, name === 'take-step' ? `${anotherToken}\n${lua}` : lua])),
  },
  /** The write of a child is sent although another process has taken that step. */
  'children uncompared': {
    module: 'src/redis/scripts.ts',
    export: 'readScripts',
    wrap:
      (read: typeof readScripts): typeof readScripts =>
      (module, names) =>
        new Map([...read(module, names)].map(([name, lua]) => [name, name === 'take-step' ? `${uncompared}\n${lua}` : lua])),
  },
  /** A request is created although another open one holds one of its addresses. */
  'addresses unlocked': {
    module: 'src/redis/scripts.ts',
    export: 'readScripts',
    wrap:
      (read: typeof readScripts): typeof readScripts =>
      (module, names) =>
        new Map([...read(module, names)].map(([name, lua]) => [name, name === 'create' ? `${unlocked}\n${lua}` : lua])),
  },
  /** A key whose token reached nobody stays on the account. */
  'unseen keys kept': {
    module: 'src/features/keys/create.ts',
    export: 'createApiKey',
    wrap: (feature: typeof createApiKey, lacks: Lacks) => ({
      ...feature,
      create: (app: App) => {
        const created = feature.create(app)
        const [change] = created.changes ?? []
        if (!change) lacks('changes')
        else
          change.observe = async (_input, _facts, moment) =>
            moment.isUnsettled ? { is: 'unclear' } : { is: 'not-started', cause: { code: 'no-such-key' } }
        return created
      },
    }),
  },
  /** The queue gives up a job whose process died, the first time and within seconds. */
  'stalled jobs given up': {
    module: 'bullmq',
    export: 'Worker',
    wrap: (Real: typeof Worker, lacks: Lacks) =>
      class extends Real {
        constructor(name: string, work: Processor, options: WorkerOptions) {
          if (options.maxStalledCount === undefined) lacks('maxStalledCount')
          const impatient = { ...options, lockDuration: 2_000, stalledInterval: 1_000, maxStalledCount: 0 }
          super(name, work, name === 'wake-ups' ? impatient : options)
        }
      },
  },
} satisfies Record<string, Ablation>
export type AblationName = keyof typeof ablations

/** Runs before the script that takes a step and changes its token. `store.take` sends the token in this argument. */
const anotherToken = `
do
  local argument = cjson.decode(ARGV[1])
  if not argument.token then return redis.error_reply('The ablation "plain SET NX" no longer finds "token" in the argument of take-step.') end
  argument.token = argument.token .. table.concat(redis.call('TIME'), '.')
  ARGV[1] = cjson.encode(argument)
end`

/** Runs before the script that takes a step. Only the write of a child has `beside`. */
const uncompared = `
do
  local argument = cjson.decode(ARGV[1])
  if argument.beside == nil or not argument.from then return redis.error_reply('The ablation "children uncompared" no longer finds "beside" and "from" in the argument of take-step.') end
  if argument.beside then argument.from = { 'approved', 'starting', 'tracking' } end
  ARGV[1] = cjson.encode(argument)
end`

/** Runs before the script that creates a request. A lock counts only while the request that holds it is in one of the states `open`. */
const unlocked = `
do
  local argument = cjson.decode(ARGV[1])
  if not argument.open then return redis.error_reply('The ablation "addresses unlocked" no longer finds "open" in the argument of create.') end
  argument.open = {}
  ARGV[1] = cjson.encode(argument)
end`

export function startOptions(name: AblationName | undefined): { nodeOptions: string[]; env: Record<string, string> } {
  if (name === undefined) return { nodeOptions: [], env: {} }
  return { nodeOptions: ['--import', new URL('./ablate.ts', import.meta.url).href], env: { ABLATION: name } }
}

export function ablated(name: AblationName, namespace: Record<string, unknown>): unknown {
  const ablation: Ablation = ablations[name]
  const lacks: Lacks = (what) => {
    throw new Error(`The ablation "${name}" no longer finds "${what}" (${ablation.export} of ${ablation.module}).`)
  }
  const real = namespace[ablation.export]
  if (real === undefined) lacks(ablation.export)
  return ablation.wrap(real as never, lacks)
}

/** Replaces one member of what a factory returns. */
function withMember<Create extends (...parts: never[]) => object, Member extends keyof ReturnType<Create> & string>(
  member: Member,
  instead: (real: ReturnType<Create>[Member]) => ReturnType<Create>[Member],
) {
  return (create: Create, lacks: Lacks) =>
    (...parts: Parameters<Create>) => {
      const made = create(...parts) as ReturnType<Create>
      if (typeof made[member] !== 'function') lacks(member)
      return { ...made, [member]: instead(made[member]) }
    }
}
