import type { Directory } from './directory.ts'

const domains = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|net|org|io|dev|cloud|app|co|de|eu|fr|it|nl|uk|us)(?:[/?#]\S*)?$/i

/**
 * Returns the text of a command as the bot receives it with `should_escape`. `&`, `<` and `>` are entities. Mentions, channels, addresses
 * and domain names are Slack's markup (docs.slack.dev/interactivity/implementing-slash-commands#creating_commands).
 */
export function commandText(text: string, directory: Directory): string {
  const safe = text.trim().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return safe.replaceAll(/\S+/g, (word) => escapeWord(word, directory))
}

function escapeWord(word: string, directory: Directory): string {
  if (word.startsWith('@')) return mention(word, directory)
  if (word.startsWith('#')) {
    const channel = directory.findChannel(word)
    return channel ? `<#${channel.id}|${channel.name}>` : word
  }
  if (/^https?:\/\//i.test(word)) return `<${word}>`
  if (domains.test(word)) return `<http://${word}|${word}>`
  return word
}

function mention(word: string, directory: Directory): string {
  const handle = word.slice(1)
  if (handle === 'here' || handle === 'channel' || handle === 'everyone') return `<!${handle}>`
  const person = directory.findByHandle(handle)
  if (person) return `<@${person.id}|${person.handle}>`
  const group = directory.workspace.userGroups.find((one) => one.handle === handle)
  return group ? `<!subteam^${group.id}|@${group.handle}>` : word
}
