import { describe, expect, test } from 'vitest'
import { collectSentences } from '../../scripts/print-sentences.ts'
import { sentencesInSource } from '../../scripts/sentences/in-source.ts'

const inSource = (source: string, path = 'src/example.ts') =>
  sentencesInSource(path, source).map(({ line, sort, text }) => `${line} ${sort}: ${text}`)

describe('the list of sentences', () => {
  const all = collectSentences()

  test('has the messages, labels, hints and states of Slack, errors, lines of the log, the sandbox, scripts, pages and settings', () => {
    expect(all.map(({ path, sort, text }) => `${path} ${sort}: ${text}`)).toEqual(
      expect.arrayContaining([
        'src/messages/refusals.ts message: You already approved this. {moreNeeded(missing)} {changedNothing}',
        'src/messages/words.ts message: withdrawn',
        'src/config/variables.ts error: is missing: it must be {expected}',
        'src/start/bot.ts log: Lockkeeper is ready',
        'src/ops/log.ts log: A call to the account API failed',
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

  test('of a page are its texts and its labels, without its markup', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source.
    const page = 'const button = html`<button class="a b" title="Close the form">\\n <b>Do</b> it</button><p>${more}</p>`'

    expect(inSource(page, 'test/sandbox/page/button.ts')).toEqual(['1 sandbox: Close the form', '1 sandbox: Do it'])
  })
})
