import { describe, expect, test } from 'vitest'
import { ApiError, StoreUnavailableError } from '../../src/domain/errors.ts'
import { apiErrorSentence, explainRefusal, refusedWrite, toUserMessage } from '../../src/slack/errors.ts'

const refused = (status: number, codes: string[], { operation = 'elasticIps.move', detail = '' } = {}) =>
  new ApiError({ operation, status, codes, ...(detail ? { detail } : {}) })

describe('a refusal of the account API', () => {
  test('has a sentence for every documented code', () => {
    const codes = [
      'ELASTIC_IP_NOT_ACTIVE',
      'SERVER_NOT_IN_PROJECT',
      'SITE_NOT_SUPPORTED',
      'SERVER_NETWORK_INCOMPATIBLE',
      'SITE_MISMATCH',
      'BGP_ELASTIC_IP_NOT_UPDATABLE',
    ]

    expect(codes.map((code) => apiErrorSentence(refused(422, [code])))).toMatchInlineSnapshot(`
      [
        "The Elastic IP isn't active, so it can't be moved now.",
        "The server isn't in the same project as the Elastic IP. Choose another server.",
        "The site doesn't support Elastic IPs. Ask the provider's support which sites do.",
        "The target's network configuration is outdated. Contact the provider's support.",
        "The server isn't in the same site as the Elastic IP. Choose another server.",
        "BGP address: several servers can announce it, so it isn't moved. Close or open its BGP sessions in the dashboard.",
      ]
    `)
  })

  test('has the same sentence in upper and lower case', () => {
    expect(apiErrorSentence(refused(422, ['server_network_incompatible']))).toBe(
      "The target's network configuration is outdated. Contact the provider's support.",
    )
  })

  test.each(['constructor', 'toString', '__proto__', 'TEAPOT'])('shows the code if it is not documented: %s', (code) => {
    expect(apiErrorSentence(refused(422, [code]))).toBe(`The account API refused this (422, ${code}).`)
  })

  test('names the missing feature by the operation', () => {
    const operations = ['elasticIps.move', 'elasticIps.list', 'baselines.list', 'apiKeys.create', 'constructor.list']
    const sentences = operations.map((operation) => apiErrorSentence(refused(403, ['FEATURE_NOT_ENABLED'], { operation })))

    expect(sentences).toMatchInlineSnapshot(`
      [
        "Elastic IPs aren't enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them.",
        "Elastic IPs aren't enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them.",
        "Baselines aren't enabled for this team (feature flag baselines_api). Ask the provider's support to enable them.",
        "This needs a feature that isn't enabled for the team. Ask the provider's support to enable it.",
        "This needs a feature that isn't enabled for the team. Ask the provider's support to enable it.",
      ]
    `)
  })

  test('quotes the account API if the missing feature is unknown', () => {
    const error = refused(403, ['FEATURE_NOT_ENABLED'], { operation: 'apiKeys.list', detail: 'key_management is off' })

    expect(apiErrorSentence(error)).toContain('It says: “key_management is off”.')
  })

  test('blames the API key for a 403 that names no feature', () => {
    expect(apiErrorSentence(refused(403, []))).toMatch(/^Lockkeeper's API key isn't allowed to do this \(403\)/)
    expect(apiErrorSentence(refused(403, ['IP_NOT_ALLOWED']))).toMatch(/^Lockkeeper's API key isn't allowed to do this \(403\)/)
  })
})

describe('the next step of a refusal', () => {
  test.each([
    refused(422, ['SERVER_NETWORK_INCOMPATIBLE']),
    refused(422, ['SITE_NOT_SUPPORTED']),
    refused(403, ['FEATURE_NOT_ENABLED']),
    refused(403, ['FEATURE_NOT_ENABLED'], { operation: 'apiKeys.create' }),
  ])('is given if the same request cannot succeed a second time: $message', (error) => {
    expect(explainRefusal(error).next).toMatch(/provider's support/)
  })

  test.each(['SITE_MISMATCH', 'SERVER_NOT_IN_PROJECT'])('is given if only another server can help: %s', (code) => {
    expect(explainRefusal(refused(422, [code])).next).toBe('Choose another server.')
  })

  test.each([
    refused(422, ['ELASTIC_IP_NOT_ACTIVE']),
    refused(422, []),
    refused(403, []),
    refused(401, []),
    refused(404, []),
    refused(409, []),
  ])('is not given if it may succeed: $message', (error) => {
    expect(explainRefusal(error).next).toBeUndefined()
  })

  test('directly follows the reason in the record of a refused write', () => {
    const parts = refusedWrite(refused(422, ['SERVER_NETWORK_INCOMPATIBLE']), 'Nothing was changed.')

    expect(`${parts.why} ${parts.next}`).toBe(
      "Nothing was changed. The target's network configuration is outdated. Contact the provider's support.",
    )
    expect(refusedWrite(refused(422, ['ELASTIC_IP_NOT_ACTIVE']), 'Nothing was changed.')).toEqual({
      why: "The Elastic IP isn't active, so it can't be moved now. Nothing was changed.",
    })
  })
})

describe('a Redis that fails', () => {
  const away =
    "Lockkeeper's database (Redis) isn't responding. Try again in a minute; nothing runs twice. If it lasts, tell the people who run Lockkeeper."
  const refuses = (why: string) =>
    `Lockkeeper's database (Redis) refuses writes, because ${why}. Your last step wasn't stored and won't be carried out. Tell the people who run Lockkeeper.`
  const sentences: Record<string, string> = {
    OOM: refuses('its memory is full'),
    MISCONF: refuses("it can't write to its disk"),
    NOREPLICAS: refuses('too few of its replicas are connected'),
    LOADING: away,
    NOPERM:
      "Lockkeeper's database (Redis) refuses Lockkeeper's user. Your last step wasn't stored and won't be carried out. Tell the people who run Lockkeeper.",
    none: away,
  }

  test.each(['OOM', 'MISCONF', 'NOREPLICAS', 'NOPERM', 'LOADING', undefined])('is reported with what it means for the step: %s', (code) => {
    expect(toUserMessage(new StoreUnavailableError('Redis: ReplyError', code))).toBe(sentences[code ?? 'none'])
  })

  test('is not said to have stored nothing if the right was missing in the middle of a step', () => {
    const inScript = "Redis: ReplyError NOPERM ACL failure in script: User x has no permissions to run the 'xadd' command"

    expect(toUserMessage(new StoreUnavailableError(inScript, 'NOPERM'))).toBe(
      "Lockkeeper's database (Redis) refuses Lockkeeper's user. Your last step may be stored only in part. Tell the people who run Lockkeeper.",
    )
  })
})
