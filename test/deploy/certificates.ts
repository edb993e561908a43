import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findOrInstall } from '../sandbox/programs.ts'

const run = promisify(execFile)

/**
 * Writes a new certificate authority into a folder, `ca.crt`, and a certificate that it issued for these names: `<file>.crt` and
 * `<file>.key`. Returns the path of `ca.crt`.
 */
export async function issueCertificate(folder: string, file: string, names: string[]): Promise<string> {
  const openssl = await findOrInstall({
    names: ['openssl'],
    packages: ['openssl'],
    missing: 'There is no openssl on this machine, which makes the certificates of this test.',
    advice: 'There is no openssl on this machine. Install it and run the command again.',
  })
  const [ca, caKey, certificate, key] = ['ca.crt', 'ca.key', `${file}.crt`, `${file}.key`].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  const create = (...args: string[]) =>
    run(openssl, ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', ...args])
  await create('-keyout', caKey, '-out', ca, '-subj', '/CN=An authority of the tests')
  await create(
    ...['-keyout', key, '-out', certificate, '-subj', `/CN=${file}`, '-CA', ca, '-CAkey', caKey],
    ...['-addext', `subjectAltName=${names.join(',')}`, '-addext', 'basicConstraints=CA:FALSE'],
  )
  return ca
}
