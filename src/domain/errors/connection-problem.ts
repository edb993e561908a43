/** Why the account API couldn't be reached. Each problem has a different fix. */
export type ConnectionProblem = 'name' | 'refused' | 'certificate' | 'late' | 'broken'

const patterns: [ConnectionProblem, RegExp][] = [
  ['name', /^(ENOTFOUND|EAI_)/],
  ['refused', /^ECONNREFUSED$/],
  ['certificate', /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$)/],
  ['late', /TIMEOUT$|^ETIMEDOUT$|^cancelled|^not finished|^no time left/],
]

/** Classifies the code of a transport error, or the words for what ended the wait. */
export function connectionProblemOf(problem: string): ConnectionProblem {
  return patterns.find(([, pattern]) => pattern.test(problem))?.[0] ?? 'broken'
}
