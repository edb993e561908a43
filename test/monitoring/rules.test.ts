import { describe, expect, test } from 'vitest'
import { alertNames, readRules, readRuleTests, unknownIn } from './rules.ts'

const rules = readRules()
const recorded = rules.flatMap(({ record }) => record ?? [])

describe('the alert rules', () => {
  test('use only metrics and labels that the metrics page has, and that rules record', () => {
    const unknown = rules.flatMap(({ alert, record, expr }) => unknownIn(expr, recorded).map((name) => `${alert ?? record}: ${name}`))
    expect(rules.length).toBeGreaterThan(20)
    expect(unknown).toEqual([])
  })

  test('have a severity, a summary and what to do', () => {
    for (const { alert, labels, annotations } of rules.filter((rule) => rule.alert)) {
      expect(['critical', 'warning'], alert).toContain(labels?.severity)
      expect(annotations?.summary, alert).toMatch(/^[A-Z{].*[^.]$/)
      expect(annotations?.description, alert).toMatch(/\.$/)
    }
  })

  test('are tested: each fires in its own test, and none fires in a normal night', () => {
    const tests = readRuleTests()
    const fired = tests.flatMap((one) =>
      one.alert_rule_test.filter((alert) => alert.exp_alerts.length > 0).map(({ alertname }) => alertname),
    )

    expect([...new Set(fired)].toSorted()).toEqual(alertNames().toSorted())
    expect(tests[0]?.name).toBe('a normal night')
  })
})
