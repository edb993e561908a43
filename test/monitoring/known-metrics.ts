import { createMetricsPage } from '../../src/ops/health.ts'
import { createMetrics } from '../../src/ops/metrics.ts'

interface RegisteredMetric {
  name: string
  labelNames?: string[]
  type?: string
}

/** Returns the samples that the metrics page can have, each with its labels. */
export function knownMetrics(): Map<string, string[]> {
  const { registry } = createMetrics()
  createMetricsPage({ registry, snapshot: () => Promise.reject(new Error('not read')) })
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
