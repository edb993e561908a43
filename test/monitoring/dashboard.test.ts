import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { dashboard } from '../../scripts/dashboard/dashboard.ts'
import { rows } from '../../scripts/dashboard/panels.ts'
import { knownMetrics, root, unknownIn } from './rules.ts'

const Place = z.object({
  x: z.number().int().min(0),
  y: z.number().int().min(0),
  w: z.number().int().min(1).max(24),
  h: z.number().int().min(1),
})
const source = z.object({ type: z.literal('prometheus'), uid: z.string() })

/** The part of Grafana's JSON model of a dashboard that this one uses (Grafana documentation, "Dashboard JSON model"). */
const Dashboard = z.object({
  uid: z.string().max(40),
  title: z.string().min(1),
  schemaVersion: z.number().int(),
  time: z.object({ from: z.string(), to: z.string() }),
  templating: z.object({
    list: z.array(z.object({ name: z.literal('datasource'), type: z.literal('datasource'), query: z.literal('prometheus') })),
  }),
  panels: z.array(
    z.discriminatedUnion('type', [
      z.object({ id: z.number(), type: z.literal('row'), title: z.string().min(1), gridPos: Place, panels: z.array(z.never()) }),
      z.object({
        id: z.number(),
        type: z.enum(['stat', 'timeseries']),
        title: z.string().min(1),
        description: z.string().min(1),
        gridPos: Place,
        datasource: source,
        targets: z
          .array(z.object({ refId: z.string().regex(/^[A-Z]$/), datasource: source, expr: z.string(), legendFormat: z.string() }))
          .min(1),
        fieldConfig: z.object({
          defaults: z.object({ unit: z.enum(['s', 'short', 'percentunit', 'reqps']) }).loose(),
          overrides: z.array(z.never()),
        }),
      }),
    ]),
  ),
})

const stored: unknown = JSON.parse(readFileSync(join(root, 'deploy/monitoring/lockkeeper.dashboard.json'), 'utf8'))
const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries.map(({ expr }) => expr)))

describe('the dashboard', () => {
  test('is what its list of panels says: otherwise run npm run dashboard', () => {
    expect(stored).toEqual(dashboard())
  })

  test('has the form that Grafana reads, and no two panels overlap', () => {
    const { panels } = Dashboard.parse(stored)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const [index, { title, gridPos: a }] of panels.entries()) {
      expect(a.x + a.w, title).toBeLessThanOrEqual(24)
      const overlapping = panels
        .slice(index + 1)
        .filter(({ gridPos: b }) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
      expect(overlapping, title).toEqual([])
    }
  })

  test('uses only metrics and labels that the metrics page has', () => {
    expect(queries.length).toBeGreaterThan(20)
    expect(queries.flatMap((query) => unknownIn(query))).toEqual([])
  })

  test('shows every metric of Lockkeeper but the counts of requests that wait', () => {
    const own = [...knownMetrics().keys()].filter((name) => /^lockkeeper_/.test(name) && !/_(bucket|sum|count)$/.test(name))
    const unseen = own.filter((name) => !queries.some((query) => new RegExp(`\\b${name}(_bucket|_count)?\\b`).test(query)))
    expect(unseen).toEqual(['lockkeeper_requests_open'])
  })
})
