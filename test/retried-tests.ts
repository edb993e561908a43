import type { Reporter, TestModule } from 'vitest/node'

/** Names at the end of a run each test that passed only at its second try: the machine stalled, or there is a defect. CI lists them as warnings. */
export default class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const mark = process.env.GITHUB_ACTIONS ? '::warning::' : ''
    for (const { children, relativeModuleId } of modules)
      for (const test of children.allTests('passed'))
        if (test.diagnostic()?.flaky) console.warn(`${mark}Passed only at its second try: ${relativeModuleId}: ${test.fullName}`)
  }
}
