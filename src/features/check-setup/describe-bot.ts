interface Running {
  version: string
  role: 'all' | 'web' | 'worker'
  usesSockets: boolean
  environment: string | undefined
  rules: number
  policyFile: unknown
}

/** Describes this process in one line. */
export function describeBot({ version, role, usesSockets, environment, rules, policyFile }: Running): string {
  const parts = [
    version,
    role === 'all' ? 'web and worker' : role,
    usesSockets ? 'Socket Mode' : 'HTTP',
    ...(environment ? [environment] : []),
    `${rules === 1 ? 'one rule' : `${rules} rules`} from ${policyFile ? 'POLICY_FILE' : 'the variables'}`,
  ]
  return parts.join('  ·  ')
}
