import type { Setup } from '../feature.ts'

/** Describes this process in one line. */
export function describeBot({
  running: { version, role, environment, rules, policyFile },
  usesSockets,
}: Pick<Setup, 'running' | 'usesSockets'>): string {
  const parts = [
    version,
    role === 'all' ? 'web and worker' : role,
    usesSockets ? 'Socket Mode' : 'HTTP',
    ...(environment ? [environment] : []),
    `${rules === 1 ? 'one rule' : `${rules} rules`} from ${policyFile ? 'POLICY_FILE' : 'environment variables'}`,
  ]
  return parts.join('  ·  ')
}
