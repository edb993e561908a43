const codes = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** Whether the code of a connection problem says that the certificate of the server is not trusted. */
export function isCertificateError(code: string): boolean {
  return codes.test(code)
}
