import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { createMetricsPage } from '../../src/ops/health.ts'
import { createMetrics } from '../../src/ops/metrics.ts'

export const root = resolve(import.meta.dirname, '../..')
export const rulesFile = join(root, 'deploy/monitoring/lockkeeper.rules.yml')
export const ruleTestsFiles = ['rules', 'outages'].map((name) => join(root, `test/monitoring/lockkeeper.${name}.test.yml`))

const Rule = z.object({
  alert: z.string().optional(),
  record: z.string().optional(),
  expr: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
})
export type Rule = z.infer<typeof Rule>

const RulesFile = z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(Rule) })) })

const AlertTest = z.object({ eval_time: z.string(), alertname: z.string(), exp_alerts: z.array(z.unknown()) })
const TestsFile = z.object({ tests: z.array(z.object({ name: z.string(), alert_rule_test: z.array(AlertTest).prefault([]) })) })

export function readRules(): Rule[] {
  return RulesFile.parse(parse(readFileSync(rulesFile, 'utf8'))).groups.flatMap(({ rules }) => rules)
}

export function readRuleTests() {
  return ruleTestsFiles.flatMap((file) => TestsFile.parse(parse(readFileSync(file, 'utf8'))).tests)
}

/** Returns the names of the alerts, each once. */
export function alertNames(): string[] {
  return [...new Set(readRules().flatMap(({ alert }) => alert ?? []))]
}

interface RegisteredMetric {
  name: string
  labelNames?: string[]
  type?: string
}

/** Returns the samples that the metrics page can have, each with its labels. */
export function knownMetrics(): Map<string, string[]> {
  const { registry } = createMetrics()
  createMetricsPage(registry, () => Promise.reject(new Error('not read')))
  const known = new Map<string, string[]>()
  for (const metric of registry.getMetricsAsArray() as unknown as RegisteredMetric[]) {
    const labels = metric.labelNames ?? []
    known.set(metric.name, labels)
    if ('buckets' in metric) {
      known.set(`${metric.name}_bucket`, [...labels, 'le'])
      for (const suffix of ['_sum', '_count']) known.set(`${metric.name}${suffix}`, labels)
    }
  }
  return known
}

/** The labels that Prometheus adds to every sample. */
const added = ['instance', 'job']

/** Finds the names and labels in a query that no metric has. `recorded`: the names that recording rules define. */
export function unknownIn(query: string, recorded: string[] = []): string[] {
  const known = knownMetrics()
  const used = [...query.matchAll(/\b((?:lockkeeper|process|nodejs)[\w:]*)(?:\{([^{}]*)\})?/g)]
  const usedNames = used.map(([, name = '']) => name).filter((name) => !recorded.includes(name))
  const wrongLabels = used.flatMap(([, name = '', matchers = '']) => {
    const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    return labels.filter((label) => ![...(known.get(name) ?? []), ...added].includes(label)).map((label) => `${name}{${label}}`)
  })
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/))
  const available = [...usedNames.flatMap((name) => known.get(name) ?? []), ...added]
  return [
    ...usedNames.filter((name) => !known.has(name)),
    ...wrongLabels,
    ...grouped.filter((label) => !available.includes(label)).map((label) => `by (${label})`),
  ]
}
