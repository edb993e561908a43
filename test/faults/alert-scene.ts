import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops } from '../journeys/world.ts'
import { type SentAlert, startAlertmanager } from '../sandbox/alertmanager/start-alertmanager.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { type SceneOptions, startScene } from './scene.ts'

const token = 'a-token-for-alerts-of-more-than-32-characters'

interface AlertmanagerFor {
  sent?: string
  /** After what time an alert resolves that is not sent again. */
  resolveTimeout?: string
  cluster?: { port: number; peers: number[] }
}

/**
 * Starts bots with the policy of docs/alerts.md, and a function that starts real Alertmanagers with its configuration. The channel and the
 * groups of the page are those of the stand-in Slack. The times are shorter: a group is looked at every second, and an alert repeated after two.
 */
export async function startAlertScene({ env = {}, ...options }: SceneOptions = {}) {
  const policy = replaced(documented('policy.yml'), [['{ASH: standby-ash, FRA: standby-fra}', '{ASH: web-2}']])
  const scene = await startScene({
    ...options,
    // The system chooses the port, because a free one may be taken a moment later.
    env: { POLICY_FILE: policyInFile(policy), ALERTS_PORT: '0', ALERTS_TOKEN: token, ...env },
  })

  async function alertmanagerFor(bot = 0, { sent = token, resolveTimeout = '5m', cluster }: AlertmanagerFor = {}) {
    const config = replaced(documented('alertmanager.yml'), [
      ['http://127.0.0.1:9465/alerts/alertmanager', scene.bots.alertsUrl(bot)],
      ['/etc/prometheus/lockkeeper-token', 'lockkeeper-token'],
      ['group_interval: 1m', 'group_interval: 1s'],
      ['repeat_interval: 1h', 'repeat_interval: 2s'],
    ])
    const timed = `global: {resolve_timeout: ${resolveTimeout}}\n${config}`
    const alertmanager = await startAlertmanager({ config: timed, files: { 'lockkeeper-token': `${sent}\n` }, cluster })
    onTestFinished(alertmanager.stop)
    return alertmanager
  }

  function requests(): Message[] {
    return scene.slack.messages(ops).filter(({ isBot, threadTs, text }) => isBot && threadTs === undefined && /Evacuate/.test(text))
  }

  function untilRequest(fits: RegExp, timeoutMs = 60_000): Promise<Message> {
    return scene.slack.until(() => requests().find(({ text }) => fits.test(text)), { what: `a request like ${fits}`, timeoutMs })
  }

  return { ...scene, alertmanagerFor, requests, untilRequest }
}

/** The alert that a server is down, as the rule of Prometheus in test/features/alerts/payloads makes it. */
export function nodeDown(hostname: string, more: Partial<SentAlert> = {}): SentAlert {
  return {
    labels: { alertname: 'NodeDown', severity: 'critical', instance: `${hostname}:9100`, job: 'node' },
    annotations: { summary: `${hostname} has been down for 2 minutes`, runbook_url: 'https://runbooks.nimbus.example/node-down' },
    generatorURL: 'http://prometheus.nimbus.example:9090/graph?g0.expr=up%7Bjob%3D%22node%22%7D+%3D%3D+0&g0.tab=1',
    ...more,
  }
}

export function nodeUp(hostname: string): SentAlert {
  return nodeDown(hostname, { endsAt: new Date().toISOString() })
}

const page = readFileSync(new URL('../../docs/alerts.md', import.meta.url), 'utf8')

/** Returns the block of the page on alerts that begins with the name of its file: `# alertmanager.yml`. */
export function documented(file: string): string {
  const blocks = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)\n *```$/gm)]
  const [, indent = '', block] = blocks.find(([, , text = '']) => text.trimStart().startsWith(`# ${file}\n`)) ?? []
  if (block === undefined) throw new Error(`docs/alerts.md has no block that begins with # ${file}`)
  return `${block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')}\n`
}

/** Replaces what depends on the machine or takes too long for a test. Throws if the page says it in other words by now. */
export function replaced(text: string, changes: [from: string, to: string][]): string {
  return changes.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`docs/alerts.md no longer has ${JSON.stringify(from)}`)
    return before.replaceAll(from, to)
  }, text)
}
