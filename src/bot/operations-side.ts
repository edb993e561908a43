import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { inLane, type KeyName } from '../domain/account/lane.ts'
import { createChecks, type Finding } from '../ops/pages/checks.ts'
import { startHealth } from '../ops/pages/health.ts'
import { createMetricsPage } from '../ops/pages/metrics-page.ts'
import { createStatus } from '../ops/pages/status.ts'
import { claim } from '../redis/claims.ts'
import { guardStore } from '../redis/connect.ts'
import type { Progress } from '../requests/worker/progress.ts'
import type { Foundation } from './foundation/foundation.ts'

/** Creates the operations side: the health, status and metrics pages, on a port for operators and orchestrators. */
export function createOperationsSide({ config, telemetry, redis, clients }: Foundation, progress: Progress) {
  const { log, lines, metrics } = telemetry
  const { slack, accountApi } = clients
  const status = createStatus({
    log,
    checks: createChecks({
      redis: () => guardStore(() => redis.prompt.ping()),
      redisProblem: redis.problem,
      probeWrites: redis.probeWrites,
      redisFaults: async () => (await redis.unacceptedFaults()).map(({ words }) => words),
      slack: slack.identity.fetch,
      accountApi: () => inLane('background', () => accountApi.apiKeys.list({ signal: AbortSignal.timeout(1_900) })),
      shareFinding: createShareFinding(redis, config.infra.key ? 'key' : 'read-key'),
      worker: progress.check,
    }),
  })
  const snapshot = async () => {
    // A Redis that refuses writes still has the other figures.
    const [figures, budget] = await Promise.all([progress.snapshot(), clients.budget.figures().catch(() => [])])
    return { ...figures, budget }
  }
  const pages = {
    '/status': status.page,
    '/metrics': createMetricsPage({ registry: metrics.registry, snapshot }),
  }

  /** Opens the operations port. Throws StartError if Lockkeeper cannot listen there. */
  function open(whyNotReady: () => Promise<string | undefined>) {
    return startHealth({ host: config.opsHost, port: config.opsPort, lines, whyNotReady, pages })
  }

  /** Returns the problem of the worker as a sentence, or undefined if it has none. */
  async function workerProblem(): Promise<string | undefined> {
    const result = await status.run('worker')
    return result.ok ? undefined : result.problem
  }

  return { open, note: status.note, workerProblem }
}

const StoredFinding = z.object({ problem: z.string().optional(), note: z.string().optional() })

/** How long a finding holds for all processes. */
const findingMs = 60_000
/** Longer than a probe takes. If its process dies, another one probes. */
const probingMs = 5_000

function createShareFinding({ prompt, keys }: Foundation['redis'], keyName: KeyName) {
  const names = keys.accountProbe(keyName)
  let last: Finding = {}

  return async function shareFinding(probe: (before: Finding) => Promise<Finding>): Promise<Finding> {
    const stored = await guardStore(() => prompt.get(names.finding))
    if (stored !== null) last = StoredFinding.parse(JSON.parse(stored))
    else if ((await claim(prompt, names.claim, { token: randomUUID(), lastsMs: probingMs })) === undefined) {
      const { againMs = findingMs, ...found } = await probe(last)
      last = found
      await guardStore(() => prompt.set(names.finding, JSON.stringify(found), 'PX', Math.max(1_000, Math.min(againMs, findingMs))))
    }
    return last
  }
}
