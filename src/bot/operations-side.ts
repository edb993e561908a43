import { createChecks } from '../ops/pages/checks.ts'
import { startHealth } from '../ops/pages/health.ts'
import { createMetricsPage } from '../ops/pages/metrics-page.ts'
import { createStatus } from '../ops/pages/status.ts'
import type { Progress } from '../requests/worker/progress.ts'
import type { Parts } from './parts.ts'

interface OperationsSideParts extends Parts {
  progress: Progress
}

/** Creates what operators and orchestrators read: health, status and metrics, on a port of their own. */
export function createOperationsSide({ config, instruments: { log, metrics }, redis, clients, progress }: OperationsSideParts) {
  const { slack, accountApi } = clients
  const status = createStatus({
    log,
    checks: createChecks({
      redis: () => redis.prompt.ping(),
      slack: slack.identity.fetch,
      accountApi: () => accountApi.apiKeys.list({ signal: AbortSignal.timeout(1_900) }),
      worker: progress.check,
    }),
  })
  const pages = {
    '/status': status.page,
    '/metrics': createMetricsPage({ registry: metrics.registry, snapshot: progress.snapshot }),
  }

  /** Opens the port. Throws StartError if Lockkeeper cannot listen there. */
  function open(whyNotReady: () => Promise<string | undefined>) {
    return startHealth({ host: config.opsHost, port: config.opsPort, log, whyNotReady, pages })
  }

  /** Returns why the work stands still, in words; undefined while it goes on. */
  async function workerProblem(): Promise<string | undefined> {
    const verdict = await status.run('worker')
    return verdict.ok ? undefined : verdict.problem
  }

  return { open, note: status.note, workerProblem }
}
