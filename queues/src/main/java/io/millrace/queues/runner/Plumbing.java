package io.millrace.queues.runner;

/** Where a program writes to. */
interface Plumbing {
  ProcessBuilder.Redirect stdout();

  ProcessBuilder.Redirect stderr();

  /** Sees to it that what was written is in the outputs, and closes. For when the program ended. */
  void drain() throws InterruptedException;

  /** Gives up what it holds. For a program that did not begin. */
  void close();

  /** Straight into the files of the outputs. */
  static Plumbing straight(Outputs outputs) {
    return new Plumbing() {
      @Override
      public ProcessBuilder.Redirect stdout() {
        return outputs.stdout().redirect();
      }

      @Override
      public ProcessBuilder.Redirect stderr() {
        return outputs.stderr().redirect();
      }

      @Override
      public void drain() {}

      @Override
      public void close() {}
    };
  }
}
