// The first page: what happens, and what needs attention.

import { html, nothing } from 'lit';
import { get, getText, query } from './http.js';
import { count, moment, short } from './format.js';
import { View, commandLine, define, head, href, link, session, status } from './view.js';
import './chart.js';

/** The values of metrics in the text format of Prometheus: name, labels and value each. */
export function readMetrics(text) {
  const samples = [];
  for (const line of text.split('\n')) {
    const match = line.match(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    samples.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return samples;
}

const sum = (samples, name, labels = {}) =>
  samples
    .filter(sample => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((total, sample) => total + sample.value, 0);

const LONGEST = 400;

/** The figures of this tab since it was opened: they outlive a change of the page. */
const history = [];

class Overview extends View {
  interval = 2000;

  async load() {
    const optional = path => get(path).catch(() => null);
    const [text, health, queues, nodes, workers, types, schedules, limits] = await Promise.all([
      getText('metrics').catch(() => ''),
      optional('health'),
      optional('dci/queues'),
      optional('dci/nodes'),
      optional('api/workers'),
      optional('api/types'),
      optional(`schedules${query({ limit: 1000 })}`),
      optional('limits'),
    ]);
    const samples = readMetrics(text);
    const tasks = field => (queues ?? []).reduce((total, queue) => total + queue[field], 0);
    const figures = {
      at: Date.now(),
      tasksDone: tasks('completed'),
      tasksWaiting: tasks('queued'),
      tasksRunning: tasks('running'),
      jobsDone: sum(samples, 'millrace_jobs_attempts_total', { outcome: 'done' }),
      jobsFailed: sum(samples, 'millrace_jobs_attempts_total', { outcome: 'failed' }),
      jobsWaiting: sum(samples, 'millrace_jobs', { status: 'pending' }),
      jobsRunning: sum(samples, 'millrace_jobs', { status: 'running' }),
      nodesDone: sum(samples, 'millrace_graph_ends_total', { outcome: 'finished' }),
      nodesFailed: sum(samples, 'millrace_graph_ends_total', { outcome: 'failed' }),
      nodesRunning: sum(samples, 'millrace_graph_nodes', { state: 'running' }),
      nodesWaiting: sum(samples, 'millrace_graph_nodes', { state: 'ready' }) + sum(samples, 'millrace_graph_nodes', { state: 'incipient' }),
      commits: sum(samples, 'millrace_store_commits_total'),
      requests: sum(samples, 'millrace_http_requests_seconds_count'),
      requestSeconds: sum(samples, 'millrace_http_requests_seconds_sum'),
      waits: sum(samples, 'millrace_jobs_wait_seconds_count'),
      waitSeconds: sum(samples, 'millrace_jobs_wait_seconds_sum'),
      uptime: sum(samples, 'process_uptime_seconds'),
    };
    if (history.length && figures.uptime < history.at(-1).uptime) history.length = 0;
    history.push(figures);
    if (history.length > LONGEST) history.shift();
    return { figures, health, queues, nodes, workers, types, schedules: schedules?.schedules ?? null, limits: limits?.limits ?? null };
  }

  content() {
    const { figures, health, queues, nodes, workers } = this.data;
    const attention = this.#attention();
    return html`
      ${head('Overview', {
        note: health
          ? html`<span class="calm">version ${health.version}, ${health.journaling} journal, up since ${moment(Date.now() - figures.uptime * 1000)}</span>`
          : nothing,
      })}
      ${attention.length
        ? html`
            <section class="attention" aria-label="What needs attention">
              <h2>Needs attention <span class="count">${attention.length}</span></h2>
              <ul>${attention.slice(0, 12).map(([word, text]) => html`<li>${status(word)} <span>${text}</span></li>`)}</ul>
            </section>`
        : html`<p class="banner good">Nothing needs attention.</p>`}
      <div class="tiles">
        ${this.#tile('Queue tasks', href(['queues']), figures.tasksRunning, figures.tasksWaiting, figures.tasksDone, 'finished')}
        ${this.#tile('Jobs', href(['jobs']), figures.jobsRunning, figures.jobsWaiting, figures.jobsDone, 'done since the start')}
        ${this.#tile('Graph nodes', href(['graph']), figures.nodesRunning, figures.nodesWaiting, figures.nodesDone, 'finished since the start')}
        <a class="tile" href=${href(['nodes'])}>
          <h3>Machines</h3>
          <p class="figure">${count((nodes ?? []).filter(node => node.state === 'alive').length)}</p>
          <p>execution nodes alive</p>
          <p class="calm">workers connected: ${count((workers ?? []).filter(worker => worker.state !== 'disconnected').length)}</p>
        </a>
      </div>
      <div class="charts">
        ${this.#chart('Finished per second', [['queue tasks', '--busy', 'tasksDone'], ['jobs', '--good', 'jobsDone'], ['graph nodes', '--third', 'nodesDone']], this.#rate)}
        ${this.#chart('Waiting', [['queue tasks', '--busy', 'tasksWaiting'], ['jobs', '--good', 'jobsWaiting'], ['graph nodes', '--third', 'nodesWaiting']], this.#level)}
        ${this.#chart('Failures per second', [['jobs', '--bad', 'jobsFailed'], ['graph nodes', '--held', 'nodesFailed']], this.#rate)}
        <millrace-chart label="Mean latency" unit="ms" .lines=${[
          { name: 'request', colour: '--busy', points: this.#mean('requestSeconds', 'requests') },
          { name: 'job until its start', colour: '--good', points: this.#mean('waitSeconds', 'waits') },
        ]}></millrace-chart>
      </div>
      ${queues && queues.length === 0 && figures.jobsDone === 0 && session.reach === null ? this.#begin() : nothing}
    `;
  }

  #tile(title, target, running, waiting, done, doneText) {
    return html`
      <a class="tile" href=${target}>
        <h3>${title}</h3>
        <p class="figure">${short(running)}</p>
        <p>running</p>
        <p class="calm">${count(waiting)} waiting · ${count(done)} ${doneText}</p>
      </a>
    `;
  }

  #chart(label, lines, points) {
    return html`<millrace-chart label=${label} .lines=${lines.map(([name, colour, field]) => ({ name, colour, points: points(field) }))}></millrace-chart>`;
  }

  #level = field => history.map(figures => ({ x: figures.at, y: figures[field] }));

  #rate = field =>
    history.slice(1).map((figures, index) => ({
      x: figures.at,
      y: Math.max(0, (1000 * (figures[field] - history[index][field])) / (figures.at - history[index].at)),
    }));

  #mean(total, number) {
    return history.slice(1).map((figures, index) => {
      const many = figures[number] - history[index][number];
      return { x: figures.at, y: many > 0 ? (1000 * (figures[total] - history[index][total])) / many : null };
    });
  }

  /** What a person should look at: a word for the state, and a text with a link. */
  #attention() {
    const { figures, health, queues, nodes, workers, types, schedules, limits } = this.data;
    const found = [];
    if (!health) found.push(['failed', 'the server reports that it cannot work']);
    health?.warnings.forEach(warning => found.push(['failed', warning]));
    for (const queue of queues ?? []) {
      const name = link(['queues', queue.id], queue.name);
      if (queue.halted) found.push(['halted', html`queue ${name}: ${queue.halted.reason}`]);
      else if (queue.suspended.length) found.push(['suspended', html`queue ${name} on ${queue.suspended.map(node => node.node).join(', ')}: ${queue.suspended[0].reason}`]);
      else if (!queue.threads && queue.queued) found.push(['paused', html`queue ${name} runs nothing, and ${queue.queued === 1 ? 'a task waits' : `${count(queue.queued)} tasks wait`}: its threads are 0`]);
    }
    for (const node of nodes ?? []) {
      if (node.state === 'dead') found.push(['dead', html`node ${link(['nodes'], node.node)} has not been heard of since ${moment(node.timestamp)}`]);
    }
    const connected = (workers ?? []).filter(worker => worker.state !== 'disconnected');
    if (figures.jobsWaiting > 0 && workers && connected.length === 0) found.push(['no worker', html`${count(figures.jobsWaiting)} ${link(['jobs'], 'jobs', { status: 'pending' })} wait, and no worker is connected`]);
    else for (const type of types ?? []) {
      if (figures.jobsWaiting > 0 && !connected.some(worker => worker.type === type.name)) found.push(['no worker', html`no worker for jobs of type ${link(['jobs'], type.name, { type: type.name, status: 'pending' })}`]);
    }
    for (const schedule of schedules ?? []) {
      const name = link(['schedules', schedule.name], schedule.name);
      if (schedule.paused?.failures) found.push(['paused', html`schedule ${name} has paused after failures`]);
      else if (schedule.counts.missed) found.push(['missed', html`schedule ${name} has missed ${count(schedule.counts.missed)} runs`]);
    }
    for (const limit of limits ?? []) {
      if (limit.running !== null && limit.used >= limit.running) found.push(['limit reached', html`${link(['limits'], limit.name)}: ${count(limit.used)} of ${count(limit.running)}`]);
    }
    return found;
  }

  #begin() {
    return html`
      <section class="begin">
        <h2>Begin here</h2>
        <p>Make a queue, and give it a command to run:</p>
        ${commandLine('./millrace queues create mail --plugin shell --threads 2')}
        ${commandLine("./millrace tasks submit mail command='echo hello' --wait")}
        <p>Or run a worker, and send it a job:</p>
        ${commandLine('./millrace worker -- wc -c')}
        ${commandLine('echo hello | ./millrace jobs submit - --output -')}
      </section>
    `;
  }
}

define('millrace-overview', Overview);
