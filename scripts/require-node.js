// This file avoids new syntax, because it has to run on the Node versions that it rejects.
const major = Number(process.versions.node.split('.')[0])

if (major < 24) {
  console.error(
    `Lockkeeper needs Node 24 or newer, and this is Node ${process.versions.node} (${process.platform} ${process.arch}). ` +
      'On Linux and Windows "npm ci" brings a Node 24 of its own unless "--omit=optional" is given. Elsewhere, install Node 24 from nodejs.org and run the command again.',
  )
  process.exit(1)
}
