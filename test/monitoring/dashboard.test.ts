import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dashboard } from '../../scripts/dashboard/dashboard.ts'
import { rows } from '../../scripts/dashboard/panels.ts'
import { knownMetrics, root, unknownIn } from './rules.ts'

const stored: unknown = JSON.parse(readFileSync(join(root, 'deploy/monitoring/lockkeeper.dashboard.json'), 'utf8'))
const queries = rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries.map(({ expr }) => expr)))

describe('the dashboard', () => {
  test('is what its list of panels says: otherwise run npm run dashboard', () => {
    expect(stored).toEqual(dashboard())
  })

  test('uses only metrics and labels that the metrics page has', () => {
    expect(queries.length).toBeGreaterThan(20)
    expect(queries.flatMap((query) => unknownIn(query))).toEqual([])
  })

  test('shows every metric of Lockkeeper but the counts of requests that wait', () => {
    const own = [...knownMetrics().keys()].filter((name) => /^lockkeeper_/.test(name) && !/_(bucket|sum|count)$/.test(name))
    const unseen = own.filter((name) => !queries.some((query) => new RegExp(`\\b${name}(_bucket|_count)?\\b`).test(query)))
    expect(unseen).toEqual(['lockkeeper_requests_open', 'lockkeeper_requests_scheduled'])
  })
})
