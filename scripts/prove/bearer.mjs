// bearer.mjs URL KEY: passes requests on with a key, since the suite can't send one. Prints its own address.
import { createServer, request } from "node:http";

const [url, key] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const server = createServer((from, to) => {
  const headers = { ...from.headers, authorization: `Bearer ${key}` };
  const further = request({ hostname, port, method: from.method, path: from.url, headers, setHost: false }, (answer) => {
    to.writeHead(answer.statusCode, answer.headers);
    answer.pipe(to);
  });
  further.on("error", () => to.destroy());
  to.on("close", () => further.destroy());
  from.pipe(further);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
