import { describe, expect, test } from 'vitest'
import { collectSentences } from '../../scripts/print-sentences.ts'
import { sentencesInMarkdown } from '../../scripts/sentences/in-markdown.ts'
import { sentencesInYaml } from '../../scripts/sentences/in-settings.ts'
import { sentencesInSource } from '../../scripts/sentences/in-source.ts'

const inSource = (source: string, path = 'src/example.ts') =>
  sentencesInSource(path, source).map(({ line, sort, text }) => `${line} ${sort}: ${text}`)

describe('the list of sentences', () => {
  const all = collectSentences()

  test('has the messages, labels, hints and states of Slack, errors, lines of the log, the sandbox, scripts, pages and settings', () => {
    expect(all.map(({ path, sort, text }) => `${path} ${sort}: ${text}`)).toEqual(
      expect.arrayContaining([
        'src/messages/refusals.ts message: You already approved this. {moreNeeded(missing)} {changedNothing}',
        'src/features/ip-move.ts message: Request approval',
        'src/features/vm-rename.ts message: Also its hostname: letters (a–z, A–Z), digits, hyphens and dots.',
        'src/messages/words.ts message: withdrawn',
        'src/features/ip-list.ts message: Project',
        "src/requests/submit.ts error: This request doesn't fit in one message, and approvers must see all of it. Nothing was requested. Request fewer changes at once.",
        'src/config/variables.ts error: is missing: it must be {expected}',
        'src/start/bot.ts log: Lockkeeper is ready',
        'src/ops/log.ts log: A call to the account API failed',
        'test/sandbox/page/frame.ts sandbox: {icons.columns}Two people',
        'scripts/check-images.ts script: {file}: {image} is not pinned. Append the digest that "docker buildx imagetools inspect {image}" shows.',
        'README.md page: # Lockkeeper',
        'docs/using.md page: # Using Lockkeeper',
        'manifest.yml settings: Look up in Lockkeeper',
        '.env.example settings: all, or web (Slack) and worker (jobs) in separate processes.',
      ]),
    )
  })

  test('has no test, and nothing that somebody else wrote', () => {
    expect(all.filter(({ path }) => path.includes('.test.') || path.includes('node_modules'))).toEqual([])
  })
})

describe('sentences in a source', () => {
  test('show what is filled in by its source, and words that are filled in by themselves', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source.
    const source = "const words = mrkdwn`${code(name)} has ${left.length === 1 ? mrkdwn`one more` : 'several'} left.`"

    expect(inSource(source)).toEqual(['1 message: {code(name)} has {…} left.', '1 message: one more', '1 message: several'])
  })

  test('are no types, imports, comparisons or names', () => {
    expect(
      inSource(`import x from 'a b'
        type Way = 'to the left' | 'Right'
        if (way === 'to the right') go({ type: 'Text', 'some key': id })
        const width = 'wide' as Width`),
    ).toEqual([])
  })

  test('of a page are its texts and its labels, without its markup', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source.
    const page = 'const button = html`<button class="a b" title="Close the form">\\n <b>Do</b> it</button><p>${more}</p>`'

    expect(inSource(page, 'test/sandbox/page/button.ts')).toEqual(['1 sandbox: Close the form', '1 sandbox: Do it'])
  })

  test('of the log and of errors are listed as such', () => {
    expect(inSource("log.warn({ path }, 'Redis is slow')\nthrow new UserError('Choose another server.')")).toEqual([
      '1 log: Redis is slow',
      '2 error: Choose another server.',
    ])
  })
})

test('a page is split into headings, paragraphs, items and rows, and its blocks of code are left out', () => {
  const page = '# A page\n\nOne paragraph\non two lines.\n- one item\n- another\n\n```sh\nnpm start\n```\n| a | row |\n|---|---|\n'

  expect(sentencesInMarkdown('page.md', page).map(({ line, text }) => `${line} ${text}`)).toEqual([
    '1 # A page',
    '3 One paragraph on two lines.',
    '5 - one item',
    '6 - another',
    '11 | a | row |',
  ])
})

test('of a YAML file the comments and the values of several words are listed', () => {
  const file = '# A comment\n# on two lines.\nname: lockkeeper\ndescription: >-\n  Some words\n  more\nport: 1 # the usual one\n'

  expect(sentencesInYaml('file.yml', file).map(({ line, text }) => `${line} ${text}`)).toEqual([
    '1 A comment on two lines.',
    '4 Some words more',
    '7 the usual one',
  ])
})
