import { expect, test } from 'vitest'
import { ApiError, CheckFailed, StoreUnavailableError } from '../../src/domain/errors.ts'
import { linked, moment, type Phrase, person, phrase, phraseText } from '../../src/domain/text.ts'
import { apiErrorSentence, explainRefusal, refusedWrite, toUserMessage, toUserWords } from '../../src/slack/errors.ts'

const refused = (status: number, codes: string[] = [], more: { operation?: string; detail?: string } = {}) =>
  new ApiError({ operation: 'elasticIps.move', status, codes, ...more })

const refusals: ApiError[] = [
  ...[
    'ELASTIC_IP_NOT_ACTIVE',
    'SERVER_NOT_IN_PROJECT',
    'SITE_NOT_SUPPORTED',
    'SERVER_NETWORK_INCOMPATIBLE',
    'server_network_incompatible',
    'SITE_MISMATCH',
    'BGP_ELASTIC_IP_NOT_UPDATABLE',
    'constructor',
    '__proto__',
    'TEAPOT',
  ].map((code) => refused(422, [code])),
  ...['elasticIps.list', 'baselines.list', 'apiKeys.create'].map((operation) => refused(403, ['FEATURE_NOT_ENABLED'], { operation })),
  refused(403, ['FEATURE_NOT_ENABLED'], { operation: 'apiKeys.list', detail: 'key_management is off' }),
  refused(403, ['IP_NOT_ALLOWED']),
  ...[401, 403, 404, 409, 422, 429, 503].map((status) => refused(status)),
]

const ofRedis: [code: string | undefined, message: string][] = [
  ...['OOM', 'MISCONF', 'NOREPLICAS', 'NOPERM', 'LOADING', undefined].map((code): [string | undefined, string] => [
    code,
    'Redis: ReplyError',
  ]),
  ['NOPERM', "Redis: ReplyError NOPERM ACL failure in script: User x has no permissions to run the 'xadd' command"],
]

/** A second try is offered on the message of a refused request only where the refusal names no next step. */
test('what people read about errors, and where a second try is offered, is in errors.answers.md', async () => {
  const account = refusals.map((error) => {
    const { why, next } = refusedWrite(error, 'Nothing was changed.')
    const retry = explainRefusal(error).next === undefined ? 'yes' : 'no'
    const about = [error.operation, error.status, ...error.codes].join(' ')
    return `| \`${about}\` | ${apiErrorSentence(error)} | ${[why, next].filter(Boolean).join(' ')} | ${retry} |`
  })
  const redis = ofRedis.map(([code, message]) => {
    const where = message.includes('script') ? ' in a script' : ''
    return `| ${code ?? 'no answer'}${where} | ${toUserMessage(new StoreUnavailableError(message, code))} |`
  })
  const page = [
    '# What people read about errors\n\n## Refusals of the account API\n',
    '| answer | in a message | in the record of a refused write | second try |\n|---|---|---|---|',
    ...account,
    '\n## Redis\n\n| error | sentence |\n|---|---|',
    ...redis,
  ]

  await expect(`${page.join('\n')}\n`).toMatchFileSnapshot('errors.answers.md')
})

test('a refusal shows each of its people, times and links once as such, also equal ones', () => {
  const [ada, noon] = [person('U0ADA00001'), moment(Date.parse('2026-11-20T12:00:00Z'))]
  const refusal = (words: Phrase) => toUserWords(new CheckFailed({ code: 'any' }, { why: phraseText(words), phrase: words }))

  const date = `<!date^${Date.parse('2026-11-20T12:00:00Z') / 1_000}^{time} {date_short_pretty}|2026-11-20 12:00 UTC>`
  expect(refusal(phrase`${ada} and ${ada}, ${noon} and ${noon}.`)?.text).toBe(`<@U0ADA00001> and <@U0ADA00001>, ${date} and ${date}.`)
  const link = linked('Move “$&” $1', 'https://nimbus.slack.com/archives/U0ADA00001')
  expect(refusal(phrase`${link} by ${ada}.`)?.text).toBe(
    '“<https://nimbus.slack.com/archives/U0ADA00001|Move “$&amp;” $1>” by <@U0ADA00001>.',
  )
})
