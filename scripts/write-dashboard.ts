import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { dashboard } from './dashboard/dashboard.ts'

/** Writes the dashboard for Grafana from the list of its panels. A test compares the file with it. */
const file = join(resolve(import.meta.dirname, '..'), 'deploy/monitoring/lockkeeper.dashboard.json')
writeFileSync(file, `${JSON.stringify(dashboard(), undefined, 2)}\n`)
