/** Why the account API cannot be reached, as far as it makes a difference to what is to be done. */
export type Trouble = 'name' | 'refused' | 'certificate' | 'late' | 'broken'

const troubles: [Trouble, RegExp][] = [
  ['name', /^(ENOTFOUND|EAI_)/],
  ['refused', /^ECONNREFUSED$/],
  ['certificate', /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$)/],
  ['late', /TIMEOUT$|^ETIMEDOUT$|^cancelled|^not finished|^no time left/],
]

/** By a transport error's code, or by what ended the wait. Pure. */
export function troubleOf(problem: string): Trouble {
  return troubles.find(([, pattern]) => pattern.test(problem))?.[0] ?? 'broken'
}
