import { spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { rows } from '../../scripts/dashboard/panels.ts'
import { openWorld } from '../journeys/open-world.ts'
import { approveMove, ops, people, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { readRules, rulesFile, ruleTestsFiles } from '../monitoring/rules.ts'
import { findPrometheus, type Prometheus, startPrometheus } from '../sandbox/prometheus/start-prometheus.ts'

let programs: Prometheus

beforeAll(async () => {
  programs = await findPrometheus()
}, 300_000)

function promtool(args: string[], input?: string): { status: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync(programs.promtool, args, { input, encoding: 'utf8' })
  return { status, printed: `${stdout}${stderr}` }
}

describe('the alert rules', () => {
  test('are correct, says promtool', () => {
    const { status, printed } = promtool(['check', 'rules', '--lint=all', '--lint-fatal', rulesFile])
    expect(printed).toContain('SUCCESS')
    expect(status).toBe(0)
  })

  test('fire on what they should, each outage within 90 s, and stay silent in a normal night', () => {
    const { status, printed } = promtool(['test', 'rules', ...ruleTestsFiles])
    expect(printed).toMatch(/SUCCESS/)
    expect(status).toBe(0)
  })
})

test('with a real bot that moves addresses, no panel is empty, each rule can be evaluated, and promtool has nothing to say about the metrics', async () => {
  const world = await openWorld(inject('redisUrl'), {
    env: { ALERTS_PORT: '0', ALERTS_TOKEN: 'alerts-of-the-test'.padEnd(40, '-') },
    account: { moveTakes: { min: 1_500, max: 2_000 } },
  })
  onTestFinished(world.close)
  const from = Date.now()
  const opsPort = world.bots[0]?.opsPort ?? 0
  const prometheus = await startPrometheus({ program: programs.prometheus, scrapes: [opsPort] })
  onTestFinished(prometheus.stop)
  // Prometheus has to see each series twice before it can compute a rate.
  for (let round = 0; round < 3; round += 1) {
    const { card } = await approveMove(world)
    await untilReport(world.slack, card.ts, /Done/)
    await world.dov.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.dov, /guest/i)
    await pause(2_500)
  }
  await untilCard(world.slack, /\*Done\*/)

  const empty: string[] = []
  for (const { title, queries } of rows.flatMap(({ panels }) => panels)) {
    for (const { expr } of queries) {
      const values = await prometheus.values(expr.replaceAll('$__rate_interval', '10s').replaceAll('$__range', '1m'), from)
      if (values.filter(Number.isFinite).length === 0) empty.push(`${title}: ${expr}`)
    }
  }
  expect(empty).toEqual([])
  for (const { expr } of readRules()) await prometheus.values(expr, from)

  const page = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
  expect(promtool(['check', 'metrics'], page)).toEqual({ status: 0, printed: '' })
})
