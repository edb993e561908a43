import { cleanText } from '../domain/text.ts'
import { checkAudit } from './verification.ts'

const { exitCode, output } = await checkAudit(process.env, process.argv.slice(2))
const outlet = exitCode === 2 ? process.stderr : process.stdout
// Somebody who can write to Redis chooses what it quotes.
outlet.write(cleanText(output))
process.exitCode = exitCode
