import { inLane } from '../domain/account/lane.ts'
import { createChecks } from '../ops/pages/checks.ts'
import { startHealth } from '../ops/pages/health.ts'
import { createMetricsPage } from '../ops/pages/metrics-page.ts'
import { createStatus } from '../ops/pages/status.ts'
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
      worker: progress.check,
    }),
  })
  const pages = {
    '/status': status.page,
    '/metrics': createMetricsPage({ registry: metrics.registry, snapshot: progress.snapshot }),
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
