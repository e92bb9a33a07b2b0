import { Component, type ReactNode } from 'react';

interface Props {
  /** What to show in place of what could not be shown. */
  instead: (error: unknown) => ReactNode;
  /** Identifies what is shown: something else is tried again. */
  of: unknown;
  children: ReactNode;
}

interface State {
  error?: { thrown: unknown } | undefined;
}

/** Keeps what fails to be drawn from taking the whole page with it. */
export class Boundary extends Component<Props, State> {
  override state: State = {};

  static getDerivedStateFromError(thrown: unknown) {
    return { error: { thrown } };
  }

  override componentDidUpdate({ of }: Props): void {
    if (of !== this.props.of && this.state.error !== undefined) {
      this.setState({ error: undefined });
    }
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : this.props.instead(error.thrown);
  }
}
