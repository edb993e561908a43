import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parse } from 'yaml'

// A tag can be moved to another image after it was tested. The project builds and runs only what a digest names. Prints the images.

const pinned = /@sha256:[0-9a-f]{64}$/

/** Returns a line for each image in a Dockerfile or a compose file that is not pinned by its digest. */
export function unpinnedImages(file: string, text: string): string[] {
  return imagesOf(file, text)
    .filter((image) => !pinned.test(image))
    .map((image) => `${file}: ${image} is not pinned. Append the digest that "docker buildx imagetools inspect ${image}" shows.`)
}

function imagesOf(file: string, text: string): string[] {
  return [...new Set(basename(file).startsWith('Dockerfile') ? imagesOfDockerfile(text) : imagesOfCompose(text))]
}

/** Returns the images of FROM, COPY --from, RUN --mount and the syntax directive, without the names of the file's own stages. */
function imagesOfDockerfile(text: string): string[] {
  const stages = new Set(['scratch', ...[...text.matchAll(/^FROM\s.*\sAS\s+(\S+)/gim)].map(([, name = '']) => name)])
  const found = [
    ...text.matchAll(/^FROM\s+(?:--platform=\S+\s+)?(\S+)/gim),
    ...text.matchAll(/^(?:COPY|ADD)\s.*?--from=(\S+)/gim),
    ...text.matchAll(/--mount=\S*?\bfrom=([^\s,]+)/gim),
    ...text.matchAll(/^#\s*syntax=(\S+)/gim),
  ]
  return found.map(([, image = '']) => image).filter((image) => !stages.has(image) && !/^\d+$/.test(image))
}

function imagesOfCompose(text: string): string[] {
  const { services } = parse(text) as { services?: Record<string, { image?: string }> }
  return Object.values(services ?? {}).flatMap(({ image }) => (image === undefined ? [] : [image]))
}

/** The files of this project that name images. */
export const filesWithImages = ['Dockerfile', 'docker-compose.yml', 'deploy/compose/caddy.yml']

if (process.argv[1] === import.meta.filename) {
  const files = process.argv.length > 2 ? process.argv.slice(2) : filesWithImages
  const texts = files.map((file) => [file, readFileSync(file, 'utf8')] as const)
  for (const image of texts.flatMap((each) => imagesOf(...each))) process.stdout.write(`${image}\n`)
  const lines = texts.flatMap((each) => unpinnedImages(...each))
  for (const line of lines) process.stderr.write(`${line}\n`)
  if (lines.length > 0) process.exitCode = 1
}
