import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

export const root = resolve(import.meta.dirname, '../..')
export const rulesFile = join(root, 'deploy/monitoring/lockkeeper.rules.yml')
export const ruleTestsFile = join(root, 'test/monitoring/lockkeeper.rules.test.yml')

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
const TestsFile = z.object({ tests: z.array(z.object({ name: z.string(), alert_rule_test: z.array(AlertTest) })) })

export function readRules(): Rule[] {
  return RulesFile.parse(parse(readFileSync(rulesFile, 'utf8'))).groups.flatMap(({ rules }) => rules)
}

export function readRuleTests() {
  return TestsFile.parse(parse(readFileSync(ruleTestsFile, 'utf8'))).tests
}

/** Returns the names of the alerts, each once. */
export function alertNames(): string[] {
  return [...new Set(readRules().flatMap(({ alert }) => alert ?? []))]
}
