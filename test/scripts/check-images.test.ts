import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
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

  test('finds each image of this project pinned, and ends with 1 if one is not', () => {
    const run = (...files: string[]) => spawnSync(process.execPath, ['scripts/check-images.ts', ...files], { cwd: root, encoding: 'utf8' })
    const folder = mkdtempSync(join(tmpdir(), 'check-images-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'Dockerfile'), 'FROM node:24-slim\n')

    const { status, stdout, stderr } = run()

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(
      stdout
        .trim()
        .split('\n')
        .map((image) => image.split('@')[0]),
    ).toEqual(['node:24-slim', 'redis:8.2', 'caddy:2'])
    expect(run(join(folder, 'Dockerfile'))).toMatchObject({ status: 1, stderr: expect.stringContaining('node:24-slim is not pinned') })
  })

  test('knows every file of this project that names images', () => {
    const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
    // The image of the Kubernetes manifests is the project's own, and that of a workflow has no field `image`.
    const others = /^(\.github|deploy\/kubernetes|test)\//
    const found = files.filter(
      (path) =>
        basename(path).startsWith('Dockerfile') ||
        (/\.ya?ml$/.test(path) && !others.test(path) && /^ +image: /m.test(readFileSync(join(root, path), 'utf8'))),
    )
    expect(found.toSorted()).toEqual(filesWithImages.toSorted())
  })
})
