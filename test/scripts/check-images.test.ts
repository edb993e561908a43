import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesWithImages, unpinnedImages } from '../../scripts/check-images.ts'

const root = resolve(import.meta.dirname, '../..')
const digest = `@sha256:${'0123456789abcdef'.repeat(4)}`

describe('the check of images before a release', () => {
  test.each([
    ['a tag', 'FROM node:24-slim', ['node:24-slim']],
    ['a tag of a stage', `FROM node:24${digest} AS base\nFROM node:24-slim AS late\nFROM base`, ['node:24-slim']],
    [
      'an image that only a file is copied from',
      `FROM node:24${digest}\nCOPY --chown=node --from=busybox:1 /bin/sh /bin/sh`,
      ['busybox:1'],
    ],
    ['a digest that was cut', `FROM node:24${digest.slice(0, -1)}`, [`node:24${digest.slice(0, -1)}`]],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker expands it.
    ['an image that an argument names', 'ARG NODE\nFROM ${NODE}', ['${NODE}']],
  ])('refuses %s in a Dockerfile', (_, text, images) => {
    expect(unpinnedImages('Dockerfile', text).map((line) => line.split(' ')[1])).toEqual(images)
  })

  test('refuses the images of services that only have a tag, and says how to find the digest', () => {
    const text = `services:\n  bot: { build: . }\n  redis: { image: redis:8.2 }\n  proxy: { image: "caddy:2${digest}" }\n`

    expect(unpinnedImages('docker-compose.yml', text)).toEqual([
      'docker-compose.yml: redis:8.2 is not pinned. Append the digest that "docker buildx imagetools inspect redis:8.2" shows.',
    ])
  })

  test('ends a release with 1 for the files of this project, as long as one of their images has no digest', () => {
    const lines = filesWithImages.flatMap((file) => unpinnedImages(file, readFileSync(resolve(root, file), 'utf8')))

    const { status, stderr } = spawnSync(process.execPath, ['scripts/check-images.ts'], { cwd: root, encoding: 'utf8' })

    expect({ status, stderr }).toEqual({ status: lines.length > 0 ? 1 : 0, stderr: lines.map((line) => `${line}\n`).join('') })
  })
})
